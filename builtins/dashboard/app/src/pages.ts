import { type ComponentType, lazy, type LazyExoticComponent } from 'react';
import {
  Blocks,
  ChartColumn,
  CircleDollarSign,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  MessagesSquare,
  Network,
  Plug,
  Rocket,
  Route,
  ScrollText,
  Server,
  ShieldCheck,
  SlidersHorizontal,
  Waypoints,
} from 'lucide-react';

export interface PageEntry {
  readonly path: `/${string}`;
  /** In the navigation and as the page's heading. */
  readonly title: string;
  readonly section: Section;
  readonly icon: LucideIcon;
  readonly Content: LazyExoticComponent<ComponentType>;
}

export type Section = 'start' | 'observe' | 'build' | 'manage';

/** Headings over parts of the navigation; the first part needs none. */
export const SECTIONS: readonly (readonly [Section, string])[] = [
  ['start', ''],
  ['observe', 'Observe'],
  ['build', 'Build'],
  ['manage', 'Manage'],
];

/** Every page in the order of the navigation. Each is a chunk of its own, loaded when it is first opened. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/getting-started',
    title: 'Getting Started',
    section: 'start',
    icon: Rocket,
    Content: lazy(() => import('./pages/getting-started/page.tsx')),
  },
  {
    path: '/overview',
    title: 'Overview',
    section: 'observe',
    icon: LayoutDashboard,
    Content: lazy(() => import('./pages/overview/page.tsx')),
  },
  {
    path: '/analytics',
    title: 'Analytics',
    section: 'observe',
    icon: ChartColumn,
    Content: lazy(() => import('./pages/analytics/page.tsx')),
  },
  {
    path: '/spend',
    title: 'Spend',
    section: 'observe',
    icon: CircleDollarSign,
    Content: lazy(() => import('./pages/spend/page.tsx')),
  },
  {
    path: '/tracing',
    title: 'Tracing',
    section: 'observe',
    icon: Waypoints,
    Content: lazy(() => import('./pages/tracing/page.tsx')),
  },
  {
    path: '/logs',
    title: 'Request Logs',
    section: 'observe',
    icon: ScrollText,
    Content: lazy(() => import('./pages/logs/page.tsx')),
  },
  {
    path: '/audit',
    title: 'Audit Trail',
    section: 'observe',
    icon: ShieldCheck,
    Content: lazy(() => import('./pages/audit/page.tsx')),
  },
  {
    path: '/providers',
    title: 'Providers',
    section: 'build',
    icon: Server,
    Content: lazy(() => import('./pages/providers/page.tsx')),
  },
  {
    path: '/routing',
    title: 'Routing Strategies',
    section: 'build',
    icon: Route,
    Content: lazy(() => import('./pages/routing/page.tsx')),
  },
  {
    path: '/plugins',
    title: 'Plugins',
    section: 'build',
    icon: Blocks,
    Content: lazy(() => import('./pages/plugins/page.tsx')),
  },
  {
    path: '/playground',
    title: 'Playground',
    section: 'build',
    icon: MessagesSquare,
    Content: lazy(() => import('./pages/playground/page.tsx')),
  },
  {
    path: '/configuration',
    title: 'Configuration',
    section: 'manage',
    icon: SlidersHorizontal,
    Content: lazy(() => import('./pages/configuration/page.tsx')),
  },
  {
    path: '/keys',
    title: 'API Keys',
    section: 'manage',
    icon: KeyRound,
    Content: lazy(() => import('./pages/keys/page.tsx')),
  },
  {
    path: '/accounts',
    title: 'Accounts',
    section: 'manage',
    icon: Network,
    Content: lazy(() => import('./pages/accounts/page.tsx')),
  },
  {
    path: '/mcp-servers',
    title: 'MCP Servers',
    section: 'manage',
    icon: Plug,
    Content: lazy(() => import('./pages/mcp/page.tsx')),
  },
];

/** Where `/` leads, and every address that no page has. */
export const FIRST_PAGE = '/getting-started';
export const UNKNOWN_PAGE = '/overview';
