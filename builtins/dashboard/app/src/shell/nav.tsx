import { Link, useLocation } from 'wouter';
import { type PageEntry, PAGES, SECTIONS } from '../pages.ts';

/** The pages, in parts. `onFollow` is for a drawer that closes behind the reader. */
export function Nav({ onFollow }: { readonly onFollow?: () => void }) {
  return (
    <nav className="nav" aria-label="Pages">
      {SECTIONS.map(([section, heading]) => {
        const pages = PAGES.filter((page) => page.section === section);
        if (pages.length === 0) return null;
        return (
          <div key={section}>
            {heading !== '' && <p className="nav-heading">{heading}</p>}
            <ul className="nav-list">
              {pages.map((page) => (
                <NavItem key={page.path} page={page} onFollow={onFollow} />
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

function NavItem({
  page: { path, title, icon: Icon },
  onFollow,
}: {
  readonly page: PageEntry;
  readonly onFollow: (() => void) | undefined;
}) {
  const [location] = useLocation();
  return (
    <li>
      <Link
        href={path}
        className="nav-link"
        aria-current={location === path ? 'page' : undefined}
        title={title}
        {...(onFollow ? { onClick: onFollow } : {})}
      >
        <Icon size={17} aria-hidden="true" />
        <span className="nav-label">{title}</span>
      </Link>
    </li>
  );
}
