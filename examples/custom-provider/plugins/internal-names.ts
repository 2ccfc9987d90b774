import Joi from 'joi';
import { definePlugin, type Exchange, reject, texts, type Verdict } from 'gw/contract';

interface Settings {
  readonly domain: string;
  readonly observe: boolean;
}

/** Refuses prompts and answers that name a host under an internal domain. */
export default definePlugin<Settings>({
  name: 'internal-names',
  type: 'guardrail',
  summary: 'Refuses prompts and answers that name a host of an internal domain',
  stages: ['before_request', 'after_request'],
  settings: Joi.object<Settings, true>({
    domain: Joi.string().lowercase().required(),
    observe: Joi.boolean().default(false), // the host reads it: serve, and only log
  }),
  create({ domain }) {
    const screen = (exchange: Exchange): Verdict | undefined => {
      for (const text of texts(exchange))
        if (text.toLowerCase().includes(`.${domain}`)) return reject('it names an internal host');
      return undefined; // go on
    };
    return { before_request: screen, after_request: screen };
  },
});
