/** Whether arguments of a call say no more than that there are none. Some upstreams send those at the end of the answer only. */
export const isEmptyObject = (json: string): boolean => /^\s*\{\s*\}\s*$/.test(json);
