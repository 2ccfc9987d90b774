// Reads example.json. A member that the runner does not know is a mistake, and not left out in silence.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const MEMBERS = {
  example: ['about', 'needs', 'env', 'config', 'server', 'upstreams', 'gateways', 'keys', 'steps', 'soak'],
  upstream: ['name', 'as', 'file', 'at', 'models', 'orders', 'env', 'args'],
  gateway: ['name', 'env'],
  step: 'say as on method path headers body times show save expect share quiet run stop order calls'.split(' '),
  expect: ['status', 'headers', 'text', 'json', 'absent', 'file'],
};

function check(kind, value) {
  const unknown = Object.keys(value).filter((name) => !MEMBERS[kind].includes(name));
  if (unknown.length > 0) throw new Error(`example.json: a ${kind} has no ${unknown.join(', ')}`);
}

export function readExample(folder) {
  const example = JSON.parse(readFileSync(join(folder, 'example.json'), 'utf8'));
  check('example', example);
  for (const upstream of example.upstreams ?? []) check('upstream', upstream);
  for (const gateway of example.gateways ?? []) check('gateway', gateway);
  for (const step of example.steps) {
    check('step', step);
    if (step.expect) check('expect', step.expect);
  }
  return {
    needs: [],
    env: {},
    config: 'config.yaml',
    upstreams: [],
    gateways: [{ name: 'gateway' }],
    keys: {},
    ...example,
  };
}
