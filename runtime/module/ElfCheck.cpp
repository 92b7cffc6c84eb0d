//===- ElfCheck.cpp - what a code image must be ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The dynamic loader trusts its input. So the parts that it reads are checked
// to lie within the image, and what a kernel image never has is refused:
// libraries that it needs, symbols that it imports, constructors.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/CodeImage.h"

#include <cstring>
#include <elf.h>
#include <vector>

using namespace tilewright;

static Status refuse(const std::string &why) {
  return Status(ErrorCode::ModuleDamaged,
                "the module's code cannot be loaded: " + why +
                    "; compile the model again");
}

/// Reads `count` records of type T at `offset`.
template <typename T>
static bool readRecords(std::string_view bytes, uint64_t offset, uint64_t count,
                        std::vector<T> &out) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T)) {
    return false;
  }
  out.resize(count);
  if (count > 0) {
    std::memcpy(out.data(), bytes.data() + offset, count * sizeof(T));
  }
  return true;
}

static Status checkDynamic(std::string_view bytes, const Elf64_Phdr &segment) {
  std::vector<Elf64_Dyn> entries;
  if (!readRecords(bytes, segment.p_offset,
                   segment.p_filesz / sizeof(Elf64_Dyn), entries)) {
    return refuse("its dynamic section lies outside the image");
  }
  for (const Elf64_Dyn &entry : entries) {
    switch (entry.d_tag) {
    case DT_NEEDED:
      return refuse("it needs another library");
    case DT_INIT:
    case DT_FINI:
    case DT_INIT_ARRAY:
    case DT_FINI_ARRAY:
    case DT_PREINIT_ARRAY:
      return refuse("it has constructors");
    case DT_NULL:
      return Status::ok();
    default:
      break;
    }
  }
  return refuse("its dynamic section has no end");
}

static Status checkSymbols(std::string_view bytes, const Elf64_Ehdr &header) {
  std::vector<Elf64_Shdr> sections;
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      !readRecords(bytes, header.e_shoff, header.e_shnum, sections)) {
    return refuse("its section table lies outside the image");
  }
  bool found = false;
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_DYNSYM) {
      continue;
    }
    found = true;
    std::vector<Elf64_Sym> symbols;
    if (!readRecords(bytes, section.sh_offset,
                     section.sh_size / sizeof(Elf64_Sym), symbols)) {
      return refuse("its symbols lie outside the image");
    }
    for (size_t i = 1; i < symbols.size(); ++i) {
      if (symbols[i].st_shndx == SHN_UNDEF) {
        return refuse("it imports a symbol");
      }
    }
  }
  return found ? Status::ok() : refuse("it has no dynamic symbols");
}

Status tilewright::checkCodeImage(std::string_view bytes) {
  std::vector<Elf64_Ehdr> headers;
  if (!readRecords(bytes, 0, 1, headers)) {
    return refuse("it is too short");
  }
  const Elf64_Ehdr &header = headers[0];
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
      header.e_machine != EM_X86_64) {
    return refuse("it is not a shared ELF image for x86-64");
  }
  std::vector<Elf64_Phdr> segments;
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !readRecords(bytes, header.e_phoff, header.e_phnum, segments)) {
    return refuse("its program headers lie outside the image");
  }
  bool hasDynamic = false;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type == PT_INTERP) {
      return refuse("it is a program");
    }
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) {
      continue;
    }
    if (segment.p_offset > bytes.size() ||
        segment.p_filesz > bytes.size() - segment.p_offset) {
      return refuse("a segment lies outside the image");
    }
    if (segment.p_type == PT_DYNAMIC) {
      TW_RETURN_IF_ERROR(checkDynamic(bytes, segment));
      hasDynamic = true;
    }
  }
  if (!hasDynamic) {
    return refuse("it has no dynamic section");
  }
  return checkSymbols(bytes, header);
}
