#include "structural.h"
