#pragma once
#include "csv_masks.h"
