interface Freezable {
  intercept(interceptor: { register: (tap: { readonly name: string }) => never }): void;
}

/** Makes every later tap throw. Freezing the object would not: taps live inside the hook. */
export function sealHooks(hooks: Readonly<Record<string, Freezable>>, why: string): void {
  for (const [name, hook] of Object.entries(hooks)) sealHook(hook, name, why);
}

export function sealHook(hook: Freezable, name: string, why: string): void {
  // tapable runs `register` over existing taps when the interceptor is added, so only taps from now on may throw.
  let isSealed = false;
  hook.intercept({
    register: (tap) => {
      if (isSealed) throw new Error(`hook ${name} is sealed: ${tap.name} taps it too late, ${why}`);
      return tap as never;
    },
  });
  isSealed = true;
}
