import type { GatewayConfig } from '../document.ts';
import type { Problem } from '../problems.ts';

/** Items of `modules` that an admin write would add: they are loaded by a start alone, and code of this machine is not chosen over the network. */
export function newModules({ modules }: GatewayConfig, loaded: ReadonlySet<string>): Problem[] {
  return modules.flatMap((item, index) =>
    loaded.has(item)
      ? []
      : [
          {
            path: `modules[${index}]`,
            rule: 'BV09',
            message: `"${item}" was not loaded when this gateway started`,
            fix: 'list it in the configuration file and start the gateway again; then it can be stored',
          },
        ],
  );
}
