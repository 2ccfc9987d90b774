import { writeFileSync } from 'node:fs';
import { makeCatalog } from './make.ts';
import { examineRules } from './rules.ts';

/** `npm run catalog`: makes `models.json` anew from the data packages and the curated file, and says what of the rules of models is to be looked at. */
const text = makeCatalog();
writeFileSync(new URL('../models.json', import.meta.url), text);
for (const line of examineRules(text, Date.now())) process.stdout.write(`${line}\n`);
