import { useState } from 'react';
import { type LucideIcon, Monitor, Moon, Sun } from 'lucide-react';
import { nextTheme, readTheme, type Theme, THEME_KEY } from '../lib/theme.ts';
import { useServices } from '../services.ts';
import { IconButton } from '../ui/button.tsx';

const ICONS: Readonly<Record<Theme, LucideIcon>> = { system: Monitor, light: Sun, dark: Moon };

/** System, light, dark, and round again. Only a choice is kept. */
export function ThemeButton() {
  const { preferences } = useServices();
  const [theme, setTheme] = useState(() => readTheme(preferences.read(THEME_KEY)));
  const choose = (): void => {
    const next = nextTheme(theme);
    preferences.write(THEME_KEY, next === 'system' ? null : next);
    if (next === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = next;
    setTheme(next);
  };
  return <IconButton icon={ICONS[theme]} label={`Theme: ${theme}. Change to ${nextTheme(theme)}`} onClick={choose} />;
}
