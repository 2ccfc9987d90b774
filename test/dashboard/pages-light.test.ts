import { describePages } from './pages.ts';

describePages('light');
