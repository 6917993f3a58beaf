"""Local::File on a real file system."""

import os
import pathlib
import stat
import uuid

from tests import base
from watcherlite import exceptions
from watcherlite.plugins.resource_handlers import file_access
from watcherlite.plugins.resource_handlers.errors import ResourceFault
from watcherlite.plugins.resource_handlers.local_file import LocalFile
from watcherlite.testing import ResourceRun

#: The hash of `hello`.
HELLO = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'


class FileCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.allowed = self.home / 'allowed'
        self.allowed.mkdir()
        self.path = self.allowed / 'motd'

    def run_of(self, **kwargs):
        return ResourceRun(
            LocalFile, options={'directories': [str(self.allowed)]}, **kwargs
        )

    def create(self, **properties):
        run = self.run_of()
        created = run.create({'path': str(self.path), **properties})
        self.assertEqual(('COMPLETE', ''), (created.status, created.reason))
        return run

    def mode(self):
        return stat.S_IMODE(self.path.stat().st_mode)

    def list_files(self):
        return sorted(os.listdir(self.allowed))


class TestLife(FileCase):
    def test_a_file_is_created_checked_changed_and_deleted(self):
        owner = f'{os.getuid()}:{os.getgid()}'
        run = self.create(content='hello', mode='0640', owner=owner)

        self.assertEqual(('hello', 0o640), (self.path.read_text(), self.mode()))
        self.assertEqual(str(self.path), run.physical_id)
        self.assertEqual(
            {'path': str(self.path), 'size': 5, 'sha256': HELLO}, run.attributes
        )
        self.assertEqual('COMPLETE', run.check().status)
        inode = self.path.stat().st_ino

        updated = run.update({'path': str(self.path), 'content': 'bye'})

        self.assertEqual(('update', 'COMPLETE'), (updated.change, updated.status))
        self.assertEqual(('bye', 0o644), (self.path.read_text(), self.mode()))
        # Processes that read the old file continue to read it.
        self.assertNotEqual(inode, self.path.stat().st_ino)
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual([], self.list_files())

    def test_a_file_of_another_host_is_managed_there_unless_shared(self):
        run, shared = self.create(), self.create(path=f'{self.path}2')
        run.data['host'] = shared.data['host'] = 'elsewhere'

        self.assertEqual('COMPLETE', shared.check().status)
        self.assertEqual('COMPLETE', shared.delete().status)
        self.assertEqual(['.motd.watcherlite', 'motd'], self.list_files())
        for name in self.list_files():
            (self.allowed / name).unlink()
        self.path.write_text('of another owner')

        for operation in (run.check, run.lock, run.unlock, run.delete):
            self.assertIn('resource is on elsewhere, and this', operation().reason)
        self.assertEqual(['motd'], self.list_files())

    def test_a_check_reports_differences_and_an_update_repairs_them_in_place(self):
        run = self.create(content='hello')

        self.path.write_text('HELLO')
        self.path.chmod(0o600)

        self.assertEqual(
            f'{self.path}: its content differs; its mode is 0600, not 0644',
            run.check().reason,
        )
        updated = run.update({'path': str(self.path), 'content': 'hello'})

        self.assertEqual('update', updated.change)
        self.assertEqual('hello', self.path.read_text())
        self.assertEqual('COMPLETE', run.check().status)
        self.path.unlink()
        self.assertEqual(f'{self.path} does not exist', run.check().reason)

    def test_a_new_path_replaces_the_file_and_a_missing_file_counts_as_deleted(self):
        run = self.create(content='hello')

        updated = run.update({'path': f'{self.path}2', 'content': 'hello'})

        self.assertEqual('replace', updated.change)
        self.assertEqual(['.motd2.watcherlite', 'motd2'], self.list_files())
        pathlib.Path(f'{self.path}2').unlink()
        for _ in range(2):
            self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual([], self.list_files())


class TestMarkers(FileCase):
    def test_a_marker_cannot_be_created_as_a_file(self):
        self.path.write_text('of unknown')
        victim = self.run_of()
        self.assertEqual('FAILED', victim.create({'path': str(self.path)}).status)

        for name in ('.motd.watcherlite', f'.motd.{victim.uuid}.claim'):
            path = str(self.allowed / name)
            error = self.assertRaises(
                exceptions.StackValidationFailed,
                self.run_of().create,
                {'path': path, 'content': victim.uuid},
            )

            self.assertEqual(
                f'properties.path: {path} has a name that is reserved for records of '
                'ownership',
                str(error),
            )
            self.assertRaises(
                ResourceFault,
                file_access.ManagedPath(path, [str(self.allowed)]).__enter__,
            )
        self.assertEqual(['motd'], self.list_files())

    def test_leftovers_of_a_lost_worker_are_not_written_through(self):
        run = self.run_of()
        left = self.allowed / f'.motd.{run.uuid}.watcherlite'
        left.write_text('half')
        other = self.home / 'other'
        os.link(left, other)

        run.create({'path': str(self.path), 'content': 'hello'})

        self.assertEqual('half', other.read_text())
        self.assertEqual('hello', self.path.read_text())
        self.assertEqual(['.motd.watcherlite', 'motd'], self.list_files())


class TestLock(FileCase):
    def test_a_lock_removes_write_permission_and_an_unlock_restores_it(self):
        run = self.create(mode='0664')

        run.lock()
        run.lock()

        self.assertEqual(0o444, self.mode())
        self.assertEqual('COMPLETE', run.check().status)
        run.unlock()
        self.assertEqual(0o664, self.mode())
        self.assertEqual('COMPLETE', run.check().status)

    def test_a_missing_file_cannot_be_locked(self):
        run = self.create()
        self.path.unlink()

        self.assertEqual(
            ('FAILED', f'{self.path} does not exist'),
            (run.lock().status, run.lock().reason),
        )
        self.assertEqual('COMPLETE', run.unlock().status)


class TestOwnership(FileCase):
    def test_unmanaged_files_are_neither_overwritten_nor_deleted(self):
        self.path.write_text('mine')

        run = self.run_of()
        created = run.create({'path': str(self.path)})

        self.assertEqual(
            f'{self.path} exists and was not created by a resource; remove it, or '
            'choose another path',
            created.reason,
        )
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual('mine', self.path.read_text())

    def test_files_of_other_resources_are_unchanged(self):
        self.create(content='first')
        second = self.run_of()

        created = second.create({'path': str(self.path), 'content': 'second'})
        second.delete()

        self.assertEqual(f'{self.path} belongs to another resource', created.reason)
        self.assertEqual('first', self.path.read_text())

    def test_a_failed_creation_leaves_no_files(self):
        run = self.run_of()

        created = run.create({'path': str(self.path), 'owner': 'unknown-such'})

        self.assertEqual(
            ('FAILED', 'There is no user unknown-such on this machine', []),
            (created.status, created.reason, self.list_files()),
        )
        self.create(content='of another')

    def test_a_deletion_removes_leftovers_of_a_lost_worker(self):
        run = self.run_of()
        run.create({'path': str(self.path)})
        for ending in ('.claim', '.watcherlite'):
            (self.allowed / f'.{self.path.name}.{run.uuid}{ending}').touch()
        run.physical_id = None

        run.delete()

        self.assertEqual([], self.list_files())

    def test_a_creation_continues_after_the_loss_of_its_worker(self):
        name = str(uuid.uuid4())
        for content in ('half', 'whole'):
            created = self.run_of(uuid=name).create(
                {'path': str(self.path), 'content': content}, attempt=2
            )

            self.assertEqual('COMPLETE', created.status)
            self.assertEqual(content, self.path.read_text())


class TestPlaces(FileCase):
    def test_paths_outside_the_allowed_directories_are_refused_early(self):
        run = self.run_of()

        for path, mode, expected in (
            ('/etc/motd', '0644', f'path: /etc/motd is not below {self.allowed}'),
            (
                *(f'{self.allowed}/../motd', '0644'),
                f"path: '{self.allowed}/../motd' is not in its shortest form, "
                f"'{self.home}/motd'",
            ),
            (
                *(f'{self.allowed}x/motd', '0644'),
                f'path: {self.allowed}x/motd is not below',
            ),
            ('motd', '0644', 'path: "motd" does not match'),
            # A number is probably a mistake.
            (
                *(str(self.path), 0o644),
                'mode: "420" does not match ^0[0-7]{3}$ (octal digits in quotes, such '
                "as '0644')",
            ),
        ):
            error = self.assertRaises(
                exceptions.Invalid, run.create, {'path': path, 'mode': mode}
            )
            self.assertIn(f'properties.{expected}', str(error))
        error = self.assertRaises(
            exceptions.Invalid, ResourceRun(LocalFile).create, {'path': '/tmp/x'}
        )
        self.assertEqual(
            'properties.path: /tmp/x is not below any directory: an operator may allow '
            'one (option directories in the group '
            '[watcherlite.resource_handlers.local_file])',
            str(error),
        )

    def test_a_missing_or_escaping_directory_is_reported(self):
        external = self.home / 'external'
        external.mkdir()
        (self.allowed / 'link').symlink_to(external)
        unusable = (
            f'{self.allowed}/sub/motd: its directory cannot be used: No such file or '
            'directory'
        )
        for name, reason in (('link', 'leads out of'), ('sub', unusable)):
            created = self.run_of().create({'path': f'{self.allowed}/{name}/motd'})

            self.assertIn(reason, created.reason)
        self.assertEqual([], os.listdir(external))

    def test_a_symbolic_link_is_not_followed(self):
        run = self.create(content='hello')
        target = self.home / 'target'
        target.write_text('mine')
        self.path.unlink()
        self.path.symlink_to(target)

        self.assertEqual('FAILED', run.check().status)
        self.assertEqual('FAILED', run.lock().status)
        run.update({'path': str(self.path), 'content': 'hello'})
        self.assertEqual(('mine', False), (target.read_text(), self.path.is_symlink()))


class TestAdopting(FileCase):
    def test_an_abandoned_file_is_changed_and_deleted_by_its_new_stack(self):
        left = self.create(content='hello')
        run = self.run_of()

        self.assertEqual('COMPLETE', run.adopt(left).status)
        run.update({'path': str(self.path), 'content': 'news'})
        self.assertEqual('news', self.path.read_text())
        run.delete()

        self.assertEqual(
            ['ADOPT_COMPLETE', 'UPDATE_COMPLETE', 'DELETE_COMPLETE'], run.history
        )
        self.assertEqual([], self.list_files())

    def test_only_the_unchanged_abandoned_file_is_adopted(self):
        others = self.create(content='hello')
        pretended = self.run_of()
        pretended.physical_id = others.physical_id
        pretended.properties = others.properties
        pretended.data = {'resource': str(uuid.uuid4())}
        another = self.create(path=f'{self.path}2', content='hello')
        another.properties = others.properties
        free = self.create(path=f'{self.path}3', content='hello')
        (self.allowed / '.motd3.watcherlite').unlink()
        changed = self.create(path=f'{self.path}4', content='hello')
        (self.allowed / 'motd4').write_text('another')
        for left, reason in (
            (pretended, 'belongs to another resource'),
            (another, 'is not the file'),
            (free, f'{self.path}3 belongs to no resource any more'),
            (changed, f'{self.path}4: its content differs'),
        ):
            settled = self.run_of().adopt(left)

            self.assertEqual('FAILED', settled.status)
            self.assertIn(reason, settled.reason)
            self.assertNotIn(others.uuid, settled.reason)
        others.delete()
        self.assertNotIn('motd', self.list_files())
