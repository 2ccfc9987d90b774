/** YAML for the commands that load it only when it is asked for: in the bundle, a library itself cannot be loaded late by its names. */
export { stringify as yamlText } from 'yaml';
