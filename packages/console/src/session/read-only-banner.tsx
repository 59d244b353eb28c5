import { LinkButton } from '../kit/link-button.tsx';
import { Note } from '../kit/note.tsx';
import { chooseOrganization, useOrganization } from './organization.ts';
import { useSessionOrThrow } from './session.ts';

/** Shown above every page of a sub-organization that a parent looks into. */
export function ReadOnlyBanner() {
  const { isReadOnly, name } = useOrganization();
  const { organizationName } = useSessionOrThrow();
  if (!isReadOnly) return null;
  return (
    <Note
      tone="info"
      title={
        <>
          You are reading <bdi>{name}</bdi>, a sub-organization of <bdi>{organizationName}</bdi>.
        </>
      }
    >
      Nothing can be changed from here. <LinkButton onClick={() => chooseOrganization()}>Back to your own</LinkButton>
    </Note>
  );
}
