/** Loaded before the soak: generated tests run all of their cases, and not the tenth that `npm test` runs. */
process.env['GW_TEST_CASES'] = 'all';
