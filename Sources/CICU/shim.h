#pragma once
// ICU renames its functions by macros that Swift cannot import: one inline wrapper, prefixed `ohana_`, per function used.
#include "casemap.h"
#include "collation.h"
#include "converter.h"
