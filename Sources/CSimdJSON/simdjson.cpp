#include "simdjson.h"
