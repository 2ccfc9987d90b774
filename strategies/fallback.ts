import Joi from 'joi';
import { defineStrategy } from 'gw/contract';

/** In declared order; a target that fails is followed by the next. */
export default defineStrategy({
  name: 'fallback',
  summary: 'Tries the targets in the order they are declared',
  advances: true,
  sessions: 'declared',
  settings: Joi.object({}),
  settingsFrom: [],
  create: () => (targets) => targets,
});
