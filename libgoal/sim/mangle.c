// SPDX-License-Identifier: BSD-3-Clause
#include "inside.h"
bool sim_mangle(struct sim_frame *fr)
{
	(void)fr;
	return false;
}
