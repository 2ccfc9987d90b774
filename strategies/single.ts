import Joi from 'joi';
import { defineStrategy } from 'gw/contract';

/** The first target takes everything. */
export default defineStrategy({
  name: 'single',
  summary: 'Sends every request to the first target',
  sessions: 'declared',
  settings: Joi.object({}),
  settingsFrom: [],
  create: () => (targets) => targets.slice(0, 1),
});
