import { describePages } from './pages.ts';

describePages('dark');
