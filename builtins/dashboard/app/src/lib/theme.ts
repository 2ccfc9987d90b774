export type Theme = 'system' | 'light' | 'dark';

/** Where the choice is stored. This name also stands in `public/theme.js`, which applies the choice before the first render. */
export const THEME_KEY = 'gw.theme';

const CYCLE: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

export function nextTheme(theme: Theme): Theme {
  return CYCLE[theme];
}

export function readTheme(stored: string | null): Theme {
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}
