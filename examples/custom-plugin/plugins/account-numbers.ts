import Joi from 'joi';
import { definePlugin, messageTexts, reject, type Scan, windowGuard } from 'gw/contract';

interface Settings {
  readonly prefix: string;
  readonly stream: 'end' | 'window' | 'record';
}

const DIGITS = 6;
const REASON = 'it names an account';

/**
 * Keeps account numbers (`AC-` and six digits) out of answers. Of a streamed answer it holds back what could be the beginning of
 * one, so that no digit of it is delivered.
 */
export default definePlugin<Settings>({
  name: 'account-numbers',
  type: 'guardrail',
  summary: 'Keeps account numbers out of answers, of streamed ones before a digit is sent',
  stages: ['after_request'],
  settings: Joi.object<Settings, true>({
    prefix: Joi.string()
      .pattern(/^[A-Z]+-$/, 'capitals and a hyphen')
      .default('AC-'),
    stream: Joi.string().valid('end', 'window', 'record').default('window'), // the host reads it
  }),
  create({ prefix, stream }) {
    const scan = (text: string): Scan => {
      for (let at = text.indexOf(prefix); at >= 0; at = text.indexOf(prefix, at + 1)) {
        const digits = /^\d*/.exec(text.slice(at + prefix.length))?.[0].length ?? 0;
        if (digits >= DIGITS) return { isMatch: true, keep: 0 };
        if (at + prefix.length + digits === text.length) return { isMatch: false, keep: text.length - at }; // it may go on
      }
      for (let keep = Math.min(prefix.length - 1, text.length); keep > 0; keep -= 1)
        if (prefix.startsWith(text.slice(-keep))) return { isMatch: false, keep };
      return { isMatch: false, keep: 0 };
    };
    return {
      after_request(exchange) {
        for (const text of messageTexts(exchange)) if (scan(text).isMatch) return reject(REASON);
        return undefined;
      },
      ...(stream === 'window' && { stream: () => windowGuard(scan, REASON) }),
    };
  },
});
