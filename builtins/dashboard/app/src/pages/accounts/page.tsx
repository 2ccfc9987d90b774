import { Page } from '../../ui/page.tsx';
import { AccountList } from './account-list.tsx';
import '../../styles/records.css';
import './accounts.css';

export default function AccountsPage() {
  return (
    <Page
      title="Accounts"
      description="Who pays: accounts bind the keys below them, tags the requests that carry them."
    >
      <AccountList />
    </Page>
  );
}
