import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useShell } from '../app/shell-context.ts';
import { cx } from '../lib/cx.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import { Logo } from './logo.tsx';
import styles from './page.module.css';

export interface PageHeaderProps {
  /** The h1: the page's name or the object's. */
  readonly title: ReactNode;
  /** The list that the object is in. */
  readonly parent?: { readonly label: string; readonly to: string };
  /** Right after the name: tags, a state. */
  readonly marks?: ReactNode;
  /** Grey, after the name: "5 users, 1 invited". */
  readonly detail?: ReactNode;
  /** At the right: buttons, the live state. */
  readonly actions?: ReactNode;
}

/** 56 px with the one h1 of the page. On phones a bar of 52 with the way back. */
export function PageHeader({ title, parent, marks, detail, actions }: PageHeaderProps) {
  const { openSearch } = useShell();
  return (
    <header className={styles.header}>
      <div className={styles.titles}>
        {parent ? (
          <Link to={parent.to} className={styles.back} aria-label={`Back to ${parent.label}`}>
            <Icon name="chevron-left" size={20} />
          </Link>
        ) : (
          <span className={styles.logo}>
            <Logo size={22} />
          </span>
        )}
        {parent && (
          <nav aria-label="Breadcrumb" className={styles.crumbs}>
            <Link to={parent.to}>{parent.label}</Link>
            <Icon name="chevron-right" size={14} />
          </nav>
        )}
        <h1 className={styles.title}>{title}</h1>
        {marks !== undefined && <div className={styles.marks}>{marks}</div>}
        {detail !== undefined && <p className={styles.detail}>{detail}</p>}
      </div>
      <div className={styles.actions}>
        {actions}
        {!parent && <IconButton className={styles.search} icon="search" label="Search" onClick={openSearch} />}
      </div>
    </header>
  );
}

export interface PageProps extends PageHeaderProps {
  readonly children: ReactNode;
  /** Without padding and scrolling of its own: the page fills the height, as `SplitView` does. */
  readonly fill?: boolean;
  /** Between header and content: a banner. */
  readonly banner?: ReactNode;
}

/** Header, and the content that scrolls under it. */
export function Page({ children, fill = false, banner, ...header }: PageProps) {
  return (
    <>
      <PageHeader {...header} />
      {banner}
      <div className={cx(fill ? styles.fill : styles.scroll)} data-scroll="">
        {children}
      </div>
    </>
  );
}

export interface ColumnsProps {
  readonly children: ReactNode;
  /** The rail at the right, 336 to 400 wide; under the main column when narrow. */
  readonly rail: ReactNode;
}

/** A detail page: main column and rail. */
export function Columns({ children, rail }: ColumnsProps) {
  return (
    <div className={styles.columns}>
      <div className={styles.stack}>{children}</div>
      <aside className={styles.stack}>{rail}</aside>
    </div>
  );
}

/** Cards under each other, 16 apart. */
export function Stack({ children }: { readonly children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>;
}
