#pragma once
// ICU renames its functions by macros that Swift cannot import: one wrapper, prefixed `ohana_icu_`, per function used.
//
// Headers here declare wrappers in plain C types and never include ICU's own headers; the .c files do. Foundation carries an ICU of its
// own whose types have the same names, and a program that sees both does not compile.
#include "casemap.h"
#include "collation.h"
#include "converter.h"
