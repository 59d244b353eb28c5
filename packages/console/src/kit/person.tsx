import type { ReactNode } from 'react';
import { Avatar, type AvatarProps } from './avatar.tsx';
import styles from './person.module.css';

export interface PersonProps extends AvatarProps {
  /** Under the name: a mail address, "program", "invited by Grace". */
  readonly detail?: ReactNode;
  /** After the name: "you", a root mark. */
  readonly marks?: ReactNode;
}

/** Avatar, name and a second line; long names are cut with dots and whole on hover. */
export function Person({ detail, marks, ...avatar }: PersonProps) {
  return (
    <span className={styles.person}>
      <Avatar {...avatar} />
      <span className={styles.text}>
        <span className={styles.line}>
          <b className={styles.name} title={avatar.name}>
            <bdi>{avatar.name}</bdi>
          </b>
          {marks}
        </span>
        {detail !== undefined && <span className={styles.detail}>{detail}</span>}
      </span>
    </span>
  );
}
