/**
 * Keeps what Node made of sources and tests for the next run, in its folder for temporary files: reading TypeScript takes longer than most files
 * of tests. Loaded first, in plain JavaScript, because what is imported beside the call is not kept. What is read from there gives less exact
 * coverage, so that a run which is measured does without.
 */
import module from 'node:module';

if (!process.env['NODE_V8_COVERAGE']) module.enableCompileCache();
