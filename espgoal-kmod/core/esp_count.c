// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Names of what is counted, for tools and reports. */
#include "esp.h"

#define NAME(name) #name,
static const char *const names[] = { ESP_COUNTS(NAME) };

const char *esp_count_name(u32 c)
{
	return c < ESP_COUNTERS ? names[c] : NULL;
}
