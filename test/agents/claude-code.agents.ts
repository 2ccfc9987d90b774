import { CLAUDE_CODE } from './kinds/claude-code.ts';
import { describeTasks } from './task.ts';

describeTasks(CLAUDE_CODE);
