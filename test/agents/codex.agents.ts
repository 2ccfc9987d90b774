import { CODEX } from './kinds/codex.ts';
import { describeTasks } from './task.ts';

describeTasks(CODEX);
