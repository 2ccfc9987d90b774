/**
 * Keeps what Node made of sources and tests for the next run, beside the gateway's own: reading TypeScript takes longer than most files
 * of tests. Loaded first, in plain JavaScript, because what is imported beside the call is not kept. What is read from there gives less exact
 * coverage, so that a run which is measured does without.
 */
import { fileURLToPath } from 'node:url';
import { useCompileCache } from '../../host/compile-cache.js';

const { NODE_V8_COVERAGE, XDG_CACHE_HOME } = process.env;
if (!NODE_V8_COVERAGE)
  useCompileCache({
    beside: fileURLToPath(new URL('../../node_modules', import.meta.url)),
    name: '.cache/gw-tests',
    cacheHome: XDG_CACHE_HOME,
  });
