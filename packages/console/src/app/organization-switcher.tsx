import { useNavigate } from '@tanstack/react-router';
import { Hidden } from '../kit/hidden.tsx';
import { Icon } from '../kit/icon.tsx';
import { Logo } from '../kit/logo.tsx';
import { Menu } from '../kit/menu.tsx';
import { chooseOrganization, useOrganization } from '../session/organization.ts';
import { useSessionOrThrow } from '../session/session.ts';
import styles from './organization-switcher.module.css';

/** The own organization, and for a parent the way to read its sub-organizations. */
export function OrganizationSwitcher() {
  const { name, isReadOnly } = useOrganization();
  const { organizationId, organizationName } = useSessionOrThrow();
  const navigate = useNavigate();
  const detail = isReadOnly ? 'Sub-organization, read only' : 'Main organization';
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className={styles.switcher}>
          <Logo size={26} />
          <span className={styles.text}>
            <Hidden>Organization: </Hidden>
            <span className={styles.name}>
              <bdi>{name}</bdi>
            </span>{' '}
            <span className={styles.detail}>{detail}</span>
          </span>
          <Icon name="chevrons" />
        </button>
      }
      items={[
        {
          id: 'own',
          label: <bdi>{organizationName}</bdi>,
          detail: organizationId,
          isChosen: !isReadOnly,
          onSelect: () => chooseOrganization(),
        },
        ...(isReadOnly
          ? [{ id: 'viewed', label: <bdi>{name}</bdi>, detail: 'Read only', isChosen: true, onSelect: () => undefined }]
          : []),
        {
          id: 'others',
          label: 'Read a sub-organization',
          icon: 'tree' as const,
          separated: true,
          onSelect: () => {
            chooseOrganization();
            void navigate({ to: '/sub-organizations' });
          },
        },
      ]}
    />
  );
}
