import { writeFileSync } from 'node:fs';
import { makeCatalog } from './make.ts';

/** `npm run catalog`: makes `models.json` anew from the data packages and the curated file. */
writeFileSync(new URL('../models.json', import.meta.url), makeCatalog());
