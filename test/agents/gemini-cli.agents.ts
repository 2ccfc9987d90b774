import { GEMINI_CLI } from './kinds/gemini-cli.ts';
import { describeTasks } from './task.ts';

describeTasks(GEMINI_CLI);
