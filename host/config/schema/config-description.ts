import { once } from '../../common/once.ts';
import { configSchema } from './config-schema.ts';

/** What a configuration may hold, as data. To describe the schema takes 25 ms, many times what checking a document takes. */
export const configDescription = once(() => configSchema.describe());
