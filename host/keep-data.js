// What `npm start` runs, in plain JavaScript: the gateway, with its keys, sessions and audit trail, its configuration, and its request log,
// in files of the folder .data, unless the environment says where they are kept.
const { env } = process;
const isSaid = (name) => env[name]?.trim();
const isElsewhere = (store) => isSaid(`${store}_BACKEND`) || isSaid(`${store}_DSN`);

if (!isSaid('GW_DATA_DIR') && !['API_KEY_STORE', 'CONFIG_STORE', 'REQUEST_LOG_STORE'].every(isElsewhere))
  env.GW_DATA_DIR = '.data';
await import('./gw.js');
