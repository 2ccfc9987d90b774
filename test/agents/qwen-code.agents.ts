import { QWEN_CODE } from './kinds/qwen-code.ts';
import { describeTasks } from './task.ts';

describeTasks(QWEN_CODE);
