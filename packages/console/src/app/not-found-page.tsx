import { Link } from '@tanstack/react-router';
import { Empty } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { currentSession } from '../session/session.ts';
import styles from './not-found-page.module.css';

/** A path that the console does not have. */
export function NotFoundPage() {
  const isInShell = currentSession() !== undefined;
  const content = (
    <Empty title="Nothing is at this address" icon="question">
      Check the address, or go to the{' '}
      <Link to="/inbox" className={styles.link}>
        inbox
      </Link>
      .
    </Empty>
  );
  if (isInShell) return <Page title="Not found">{content}</Page>;
  return (
    <main className={styles.alone}>
      <h1>Not found</h1>
      {content}
    </main>
  );
}
