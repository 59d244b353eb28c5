import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function PeoplePage() {
  return (
    <Page title="People">
      <Empty title="Nobody is listed yet" icon="people">
        Users, their tags and credentials will be listed here.
      </Empty>
    </Page>
  );
}
