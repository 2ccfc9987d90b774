import { STAGES } from '../../contract/index.ts';
import { always, entry, flag, nullableFreeMap, text } from './schema-fields.ts';
import { shown } from './showing.ts';

/** One entry of `plugins`. */
export const plugin = entry({
  name: always(text("[plugins.md](plugins.md), or a module's", { isRequired: true, bounds: 'a known plugin' }), ''),
  type: text("a label of yours; the plugin's own type decides what a fault of it does", {
    otherwiseSaid: 'empty',
    bounds: 'any',
  }),
  stage: text('one entry is one stage', {
    isRequired: true,
    values: STAGES,
    bounds: 'as far as the plugin has them',
  }),
  enabled: always(
    flag('an entry that is not enabled is neither checked nor run', { otherwise: false }).meta(shown({ isKept: true })),
    false,
  ),
  config: always(
    nullableFreeMap('its settings', { bounds: "the plugin's own schema" }).meta(
      shown({ as: 'plugin settings', always: null }),
    ),
    null,
  ),
});
