import { Link, useRouter } from '@tanstack/react-router';
import { Menu } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslations } from 'use-intl';

interface SideProps {
  /** Where the name leads. */
  home: '/' | '/admin';
  name: string;
  /** The links to the pages. */
  links: ReactNode;
  /** Below the links: what is chosen, and who is signed in. */
  children: ReactNode;
}

/** The side of every page. On a narrow screen a bar, whose button opens the rest. */
export function Side({ home, name, links, children }: SideProps) {
  const words = useTranslations();
  const menu = useRef<HTMLDivElement>(null);
  const router = useRouter();
  useEffect(() => router.subscribe('onBeforeNavigate', () => menu.current?.hidePopover()), [router]);
  return (
    <header className="side">
      <SkipLink />
      <div className="bar">
        <Link to={home} className="brand">
          <img src="/console/icon.svg" alt="" width="28" height="28" />
          <bdi>{name}</bdi>
        </Link>
        <button type="button" className="open-menu" popoverTarget="menu">
          <Menu size={18} aria-hidden="true" />
          {words('nav.menu')}
        </button>
      </div>
      <div className="menu" id="menu" popover="auto" ref={menu}>
        <nav aria-label={words('nav.main')}>{links}</nav>
        {children}
        <button type="button" className="close-menu" popoverTarget="menu" popoverTargetAction="hide">
          {words('nav.close')}
        </button>
      </div>
    </header>
  );
}

/** Leads a keyboard past the side. */
function SkipLink() {
  const words = useTranslations('nav');
  return (
    <a href="#page" className="skip">
      {words('skip')}
    </a>
  );
}
