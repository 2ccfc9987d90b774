import type { ReactNode } from 'react';
import { Tabs as Parts } from 'radix-ui';

export interface Tab {
  readonly value: string;
  readonly label: string;
  readonly content: ReactNode;
}

export interface TabsProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly tabs: readonly Tab[];
}

/** Views of one page; which one is open lives in the address, so the page hands it in. */
export function Tabs({ label, value, onChange, tabs }: TabsProps) {
  return (
    <Parts.Root value={value} onValueChange={onChange}>
      <Parts.List className="tab-list" aria-label={label}>
        {tabs.map((tab) => (
          <Parts.Trigger key={tab.value} className="tab" value={tab.value}>
            {tab.label}
          </Parts.Trigger>
        ))}
      </Parts.List>
      {tabs.map((tab) => (
        <Parts.Content key={tab.value} className="tab-content" value={tab.value}>
          {tab.content}
        </Parts.Content>
      ))}
    </Parts.Root>
  );
}
