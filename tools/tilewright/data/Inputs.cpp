//===- Inputs.cpp - tensors for a model's inputs --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/Inputs.h"

#include "tools/support/Npy.h"
#include "tools/tilewright/data/ElementValues.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace tilewright {
namespace {

/// A small generator whose numbers are the same everywhere (splitmix64).
class Random {
public:
  /// Each input has a sequence of its own, whichever others are generated.
  Random(uint64_t seed, const std::string &name) : state(seed) {
    for (char character : name) {
      state = next() ^ static_cast<unsigned char>(character);
    }
  }

  uint64_t next() {
    uint64_t value = state += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
  }

  /// A multiple of 2^-23 in [-1, 1).
  double real() { return static_cast<double>(next() >> 40) * 0x1p-23 - 1; }

private:
  uint64_t state;
};

std::optional<int64_t> asNumber(const std::string &text) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [last, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && last == end ? std::optional<int64_t>(value)
                                             : std::nullopt;
}

bool takesIntegers(DType dtype) {
  switch (dtype) {
  case DType::Bool:
  case DType::I4:
  case DType::U4:
  case DType::I2:
  case DType::U2:
    return true;
  default:
    return isInteger(dtype);
  }
}

void fill(const TensorView &tensor, InputBinding::Source source,
          Random random) {
  int64_t count = tensor.elements();
  if (source == InputBinding::Source::Zeros) {
    std::memset(tensor.data, 0, static_cast<size_t>(tensor.bytes()));
    return;
  }
  bool isInteger = takesIntegers(tensor.dtype);
  for (int64_t i = 0; i < count; ++i) {
    double value = 1;
    if (source == InputBinding::Source::Random) {
      value =
          isInteger ? static_cast<double>(random.next() & 1) : random.real();
    }
    setElement(tensor, i, value);
  }
}

/// Makes the inputs of one run.
class Maker {
public:
  Maker(const std::vector<Parameter> &parameters, const InputOptions &options)
      : parameters(parameters), options(options) {}

  Result<MadeInputs> make();

private:
  Status checkNames() const;
  Status readFiles();
  void bindSymbols(const Parameter &parameter,
                   const std::vector<int64_t> &shape);
  Status useShape(const Parameter &parameter,
                  const std::vector<int64_t> &shape);
  std::vector<int64_t> shapeOf(const Parameter &parameter);
  Status generate(size_t index, InputBinding::Source source);
  const InputBinding *bindingOf(const std::string &name) const;

  const std::vector<Parameter> &parameters;
  const InputOptions &options;
  std::map<std::string, int64_t> symbols;
  MadeInputs made;
};

} // namespace

std::string listNames(const std::string &what,
                      const std::vector<Parameter> &parameters) {
  if (parameters.empty()) {
    return "the model has no " + what;
  }
  std::string text = "the " + what + " are ";
  for (size_t i = 0; i < parameters.size(); ++i) {
    text += (i ? ", '" : "'") + parameters[i].name + "'";
  }
  return text;
}

std::vector<TensorView> MadeInputs::views() const {
  std::vector<TensorView> all;
  for (const Tensor &tensor : tensors) {
    all.push_back(tensor.view());
  }
  return all;
}

const InputBinding *Maker::bindingOf(const std::string &name) const {
  for (const InputBinding &binding : options.bindings) {
    if (binding.name == name) {
      return &binding;
    }
  }
  return nullptr;
}

Status Maker::checkNames() const {
  auto check = [&](const std::string &name) {
    for (const Parameter &parameter : parameters) {
      if (parameter.name == name) {
        return Status::ok();
      }
    }
    return Status(ErrorCode::InputName,
                  "there is no input '" + name + "'; " +
                      listNames("inputs", parameters) +
                      " (an input that has a default value in the model is a "
                      "constant of the compiled one)");
  };
  for (const InputBinding &binding : options.bindings) {
    TW_RETURN_IF_ERROR(check(binding.name));
  }
  for (const auto &entry : options.shapes) {
    TW_RETURN_IF_ERROR(check(entry.first));
  }
  return Status::ok();
}

/// The first one to say how large a symbol is counts; the runtime refuses
/// inputs that disagree.
void Maker::bindSymbols(const Parameter &parameter,
                        const std::vector<int64_t> &shape) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] >= 0 && !asNumber(parameter.dims[axis])) {
      symbols.emplace(parameter.dims[axis], shape[axis]);
    }
  }
}

Status Maker::useShape(const Parameter &parameter,
                       const std::vector<int64_t> &shape) {
  std::string subject = "--shape: input '" + parameter.name + "' ";
  if (shape.size() != parameter.dims.size()) {
    return Status(
        ErrorCode::InputShape,
        subject + "has rank " + std::to_string(parameter.dims.size()) +
            ", and the given shape has rank " + std::to_string(shape.size()));
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::optional<int64_t> fixed = asNumber(parameter.dims[axis]);
    if (shape[axis] >= 0 && fixed && *fixed != shape[axis]) {
      return Status(ErrorCode::InputShape,
                    subject + "has the size " + parameter.dims[axis] +
                        " on axis " + std::to_string(axis) + ", not " +
                        std::to_string(shape[axis]));
    }
  }
  bindSymbols(parameter, shape);
  return Status::ok();
}

Status Maker::readFiles() {
  for (size_t i = 0; i < parameters.size(); ++i) {
    const InputBinding *binding = bindingOf(parameters[i].name);
    if (!binding || binding->source != InputBinding::Source::File) {
      continue;
    }
    Result<Tensor> tensor = readNpy(binding->file, parameters[i].dtype);
    if (!tensor) {
      return Status(tensor.status().code(),
                    "input '" + parameters[i].name +
                        "': " + tensor.status().message());
    }
    // A wrong rank is the runtime's to refuse.
    if (tensor->shape().size() == parameters[i].dims.size()) {
      bindSymbols(parameters[i], tensor->shape());
    }
    made.tensors[i] = std::move(*tensor);
    made.sources[i] = binding->file;
  }
  return Status::ok();
}

std::vector<int64_t> Maker::shapeOf(const Parameter &parameter) {
  std::vector<int64_t> shape;
  auto given = options.shapes.find(parameter.name);
  for (size_t axis = 0; axis < parameter.dims.size(); ++axis) {
    const std::string &dim = parameter.dims[axis];
    std::optional<int64_t> size = asNumber(dim);
    if (!size && given != options.shapes.end() && given->second[axis] >= 0) {
      size = given->second[axis];
    }
    if (!size) {
      auto [symbol, isNew] = symbols.emplace(dim, 1);
      if (isNew) {
        made.assumed.push_back(dim);
      }
      size = symbol->second;
    }
    shape.push_back(*size);
  }
  return shape;
}

Status Maker::generate(size_t index, InputBinding::Source source) {
  const Parameter &parameter = parameters[index];
  if (!hasElementValues(parameter.dtype)) {
    return Status(ErrorCode::UnsupportedType,
                  "input '" + parameter.name + "': no data of type " +
                      nameOf(parameter.dtype) + " can be made up; give a file");
  }
  Result<Tensor> tensor = Tensor::create(parameter.dtype, shapeOf(parameter));
  if (!tensor) {
    return tensor.status();
  }
  fill(tensor->view(), source, Random(options.seed, parameter.name));
  made.tensors[index] = std::move(*tensor);
  return Status::ok();
}

Result<MadeInputs> Maker::make() {
  TW_RETURN_IF_ERROR(checkNames());
  made.tensors.resize(parameters.size());
  made.sources.resize(parameters.size());
  for (const Parameter &parameter : parameters) {
    auto shape = options.shapes.find(parameter.name);
    if (shape != options.shapes.end()) {
      TW_RETURN_IF_ERROR(useShape(parameter, shape->second));
    }
  }
  TW_RETURN_IF_ERROR(readFiles());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const InputBinding *binding = bindingOf(parameters[i].name);
    auto source = binding ? binding->source : InputBinding::Source::Random;
    if (source == InputBinding::Source::File) {
      continue;
    }
    made.sources[i] = source == InputBinding::Source::Zeros  ? "zeros"
                      : source == InputBinding::Source::Ones ? "ones"
                                                             : "random";
    TW_RETURN_IF_ERROR(generate(i, source));
  }
  return std::move(made);
}

Result<MadeInputs> makeInputs(const std::vector<Parameter> &parameters,
                              const InputOptions &options) {
  return Maker(parameters, options).make();
}

} // namespace tilewright
