import { Avatar } from '../kit/avatar.tsx';
import { IconButton } from '../kit/button.tsx';
import { duration } from '../lib/time.ts';
import { signOut } from '../session/login.ts';
import { useSessionOrThrow } from '../session/session.ts';
import styles from './account.module.css';
import { useNow } from './now.ts';

/** Who is signed in, for how long, and the way out. */
export function Account() {
  const { userName, expiresAtMs } = useSessionOrThrow();
  const leftMs = expiresAtMs - useNow();
  return (
    <div className={styles.account}>
      <Avatar name={userName} />
      <div className={styles.text}>
        <p className={styles.name} title={userName}>
          <bdi>{userName}</bdi>
        </p>
        <p className={styles.left}>{leftMs > 0 ? `Session ends in ${duration(leftMs)}` : 'Session ended'}</p>
      </div>
      <IconButton icon="logout" label="Sign out" onClick={() => void signOut()} />
    </div>
  );
}
