import { cloneElement, Suspense, useState } from 'react';
import { Hidden } from '../kit/hidden.tsx';
import { Icon } from '../kit/icon.tsx';
import { lazyLayer } from '../kit/lazy-layer.ts';
import { Logo } from '../kit/logo.tsx';
import { useOrganization } from '../session/organization.ts';
import styles from './organization-switcher.module.css';

const [OrganizationChoice, loadChoice] = lazyLayer(() => import('./organization-choice.tsx'));

/** The own organization, and for a parent its sub-organizations to read. The list is loaded when somebody comes near it. */
export function OrganizationSwitcher() {
  const [isWanted, setIsWanted] = useState(false);
  const { name, isReadOnly } = useOrganization();
  const trigger = (
    <button type="button" className={styles.switcher}>
      <Logo size={26} />
      <span className={styles.text}>
        <Hidden>Organization: </Hidden>
        <span className={styles.name}>
          <bdi>{name}</bdi>
        </span>{' '}
        <span className={styles.detail}>{isReadOnly ? 'Sub-organization, read only' : 'Main organization'}</span>
      </span>
      <Icon name="chevrons" />
    </button>
  );
  const waiting = cloneElement(trigger, {
    'aria-haspopup': 'dialog',
    'aria-expanded': false,
    onPointerEnter: loadChoice,
    onFocus: loadChoice,
    onClick: () => setIsWanted(true),
  });
  if (!isWanted) return waiting;
  return (
    <Suspense fallback={waiting}>
      <OrganizationChoice trigger={trigger} />
    </Suspense>
  );
}
