# SPDX-License-Identifier: GPL-3.0-or-later
"""What the functions of guest.sh, which run in the machine, go by."""


def guest_variables(volume, journal, fs_type, inline_mb, peer, verify):
    """The command that tells the guest what to work on, and how to move."""
    return (f"VOLUME={volume}; JOURNAL={journal}; TYPE={fs_type}; INLINE_MB={inline_mb}; "
            f"MOVER={'tune2fs' if peer else 'jbdlab'}; VERIFY={verify}")
