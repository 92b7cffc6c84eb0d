#!/usr/bin/env bash
# format.sh [--check]: formats the C++ sources with clang-format 22; with --check, only says which are not formatted.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$root"
mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.h')
if [ "${1:-}" = --check ]; then
  unformatted="$(clang-format-22 --dry-run -Werror "${sources[@]}" 2>&1 |
    sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: error: .*/\1/p' | sort -u)" || true
  [ -z "$unformatted" ] && exit 0
  printf '%s\n' "$unformatted" "scripts/format.sh formats them" >&2
  exit 1
fi
clang-format-22 -i "${sources[@]}"
