import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Logo } from '../kit/logo.tsx';
import { Note } from '../kit/note.tsx';
import { QuorumRing } from '../kit/quorum-ring.tsx';
import { StatusMark } from '../kit/status-mark.tsx';
import { lastOrganizationId, signInWithLink } from './login.ts';
import { fetchContext } from './service-context.ts';
import { useSessionState } from './session.ts';
import styles from './sign-in.module.css';
import { SignInForm, signInProblem } from './sign-in-form.tsx';

/** The token of a first-run link. It is read once, and the address bar forgets it at once. */
export function takeLink(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('link') ?? undefined;
  if (token !== undefined) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

const firstLink = takeLink();
let isLinkUsed = false;

export function SignInPage() {
  const { session } = useSessionState();
  const navigate = useNavigate();
  const { from, organization } = useSearch({ from: '/sign-in' });
  const context = useQuery({ queryKey: ['context'], queryFn: ({ signal }) => fetchContext(signal) });
  const [typed, setTyped] = useState<string>();
  const [link, setLink] = useState<'none' | 'busy' | { readonly title: string; readonly text: string }>(
    firstLink === undefined || isLinkUsed ? 'none' : 'busy',
  );
  const organizationId = typed ?? organization ?? (lastOrganizationId() || (context.data?.firstOrganizationId ?? ''));
  const isFirstRun = context.data?.firstOrganizationId !== undefined && lastOrganizationId() === '';

  useEffect(() => {
    document.title = 'Sign in · Custos';
  }, []);
  useEffect(() => {
    if (firstLink === undefined || isLinkUsed) return;
    // Once, also where effects run twice.
    isLinkUsed = true;
    signInWithLink(firstLink).catch((error: unknown) => {
      const { kind, title, text } = signInProblem(error);
      const isRefused = kind === 'session' || kind === 'denied' || kind === 'gone';
      setLink({ title: isRefused ? 'This link does not sign in.' : title, text });
    });
  }, []);
  useEffect(() => {
    if (session !== undefined) void navigate({ href: `/console${from ?? '/inbox'}`, replace: true });
  }, [session, from, navigate]);

  return (
    <main className={styles.page}>
      <section className={styles.entry}>
        <div className={styles.column}>
          <p className={styles.brand}>
            <Logo /> Custos
          </p>
          <h1 className={styles.title}>Sign in</h1>
          <p className={styles.where}>
            to the service {context.data?.isLoopback === true ? 'on this machine, ' : 'at '}
            <code>{location.host}</code>
          </p>
          {link === 'busy' && (
            <p role="status" className={styles.where}>
              The link signs you in…
            </p>
          )}
          {typeof link === 'object' && (
            <div className={styles.refusal}>
              <Note tone="wait" title={link.title} role="alert">
                {link.text} <code>npx custos console</code> prints a new one.
              </Note>
            </div>
          )}
          <SignInForm organizationId={organizationId} onOrganizationId={setTyped} onDone={() => undefined} />
          <p className={styles.foot}>
            {context.data !== undefined && `Version ${context.data.version} · `}this page talks to this service and to
            nothing else
          </p>
        </div>
      </section>
      {isFirstRun && <FirstRun />}
    </main>
  );
}

const STEPS = [
  ['Add a passkey', 'On this device or a security key. Takes ten seconds.'],
  ['Remove the key file', 'The console tells you when it is no longer needed.'],
  ['Invite a second person', 'From then on, two can agree on what one could only do alone.'],
] as const;

function FirstRun() {
  return (
    <aside className={styles.first} aria-label="First run">
      <div className={styles.column}>
        <p>
          <StatusMark tone="info" icon="info">
            First run
          </StatusMark>
        </p>
        <div className={styles.ring}>
          <QuorumRing threshold={1} people={[{ userId: 'you', userName: 'you', text: 'you' }]} caption="root quorum" />
        </div>
        <h2 className={styles.claim}>One person can do everything here.</h2>
        <p className={styles.where}>
          The first start made one root user and wrote its key to a file. Three steps make it fit to keep money.
        </p>
        <ol className={styles.steps}>
          {STEPS.map(([title, text]) => (
            <li key={title}>
              <b>{title}</b>
              <span>{text}</span>
            </li>
          ))}
        </ol>
      </div>
    </aside>
  );
}
