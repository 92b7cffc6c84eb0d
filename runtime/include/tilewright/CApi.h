/*===- CApi.h - the runtime's C API -------------------------*- C -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Every function that can fail returns an error number, 0 for success. The
// message of this thread's last failure is tw_last_error().
//
//   tw_module *module;
//   tw_context *context;
//   tw_result *result;
//   if (tw_module_open_for("model.twm", TW_DEVICE_CUDA, NULL, &module) != 0 ||
//       tw_context_create_on(module, 0, 1, &context) != 0 ||  // the second GPU
//       tw_context_run(context, &input, 1, &result) != 0) {
//     fprintf(stderr, "%s\n", tw_last_error());
//   }
//
//===----------------------------------------------------------------------===*/

#ifndef TILEWRIGHT_C_API_H
#define TILEWRIGHT_C_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_module tw_module;
typedef struct tw_context tw_context;
typedef struct tw_result tw_result;

/* The numbers of tilewright::DType. */
typedef enum {
  TW_F32,
  TW_F16,
  TW_BF16,
  TW_F64,
  TW_I8,
  TW_I16,
  TW_I32,
  TW_I64,
  TW_U8,
  TW_U16,
  TW_U32,
  TW_U64,
  TW_BOOL,
  TW_F8E4M3FN,
  TW_F8E4M3FNUZ,
  TW_F8E5M2,
  TW_F8E5M2FNUZ,
  TW_F8E8M0,
  TW_I4,
  TW_U4,
  TW_F4E2M1,
  TW_I2,
  TW_U2,
  TW_STRING,
  TW_C64,
  TW_C128
} tw_dtype;

/* A dense row-major tensor. The memory belongs to whoever made it. */
typedef struct {
  tw_dtype dtype;
  size_t rank;
  const int64_t *dims;
  void *data;
} tw_tensor;

/* What runs a module's kernels. */
typedef enum {
  TW_DEVICE_ANY, /* the processor where the module has code for it, else a GPU
                  */
  TW_DEVICE_CPU,
  TW_DEVICE_CUDA,     /* a GPU, through NVIDIA's driver */
  TW_DEVICE_SIMULATOR /* Tilewright's simulator of one, on the processor */
} tw_device;

/* "error TW1103: …" of this thread's last failure; "" if there was none. */
const char *tw_last_error(void);

int tw_module_open(const char *path, tw_module **module);
int tw_module_from_bytes(const void *data, size_t size, tw_module **module);

/* The same for one kind of device, a tw_device. `code` chooses among the
   module's code: a level ("avx2") for TW_DEVICE_CPU, an architecture ("sm_80")
   for TW_DEVICE_CUDA, and the GPU that TW_DEVICE_SIMULATOR plays; NULL: the
   best that runs. TW_DEVICE_ANY takes no `code`. */
int tw_module_open_for(const char *path, int device, const char *code,
                       tw_module **module);
int tw_module_from_bytes_for(const void *data, size_t size, int device,
                             const char *code, tw_module **module);

void tw_module_close(tw_module *module);
size_t tw_module_inputs(const tw_module *module);
size_t tw_module_outputs(const tw_module *module);
/* NULL when there is no such input or output. */
const char *tw_module_input_name(const tw_module *module, size_t index);
const char *tw_module_output_name(const tw_module *module, size_t index);
const char *tw_module_summary(const tw_module *module);
/* What runs the module; never TW_DEVICE_ANY. */
tw_device tw_module_device(const tw_module *module);

/* The context keeps the module alive. threads = 0: as many as this process may
   use. One run at a time per context. */
int tw_context_create(const tw_module *module, unsigned threads,
                      tw_context **context);
/* The same on GPU number `gpu`, for a module that a GPU runs. */
int tw_context_create_on(const tw_module *module, unsigned threads, int gpu,
                         tw_context **context);
void tw_context_free(tw_context *context);
/* "cpu:avx2", "NVIDIA H200 (sm_90)"; lives as long as the context. */
const char *tw_context_device(const tw_context *context);

/* Inputs in the order of the module's. The result lives until it is freed. */
int tw_context_run(tw_context *context, const tw_tensor *inputs, size_t count,
                   tw_result **result);
size_t tw_result_count(const tw_result *result);
/* Zeroes when there is no such output. */
tw_tensor tw_result_tensor(const tw_result *result, size_t index);
void tw_result_free(tw_result *result);

#ifdef __cplusplus
}
#endif

#endif
