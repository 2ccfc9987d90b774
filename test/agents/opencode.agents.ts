import { OPENCODE } from './kinds/opencode.ts';
import { describeTasks } from './task.ts';

describeTasks(OPENCODE);
