# otlp.py - reads OpenTelemetry profiles (ProfilesData of v1development, protocol 1.11) by the
# numbers of their fields, and checks what the format asks for. `otlp.py self FILE` prints the self
# time of each function in ns; `otlp.py check FILE` prints what is in it, a line for each sample.
#
# SPDX-License-Identifier: MIT
import struct
import sys


class Message(dict):
    """The fields of a message by number: a list of integers or bytes for each."""

    def __init__(self, data):
        at = 0
        while at < len(data):
            tag, at = varint(data, at)
            field, kind = tag >> 3, tag & 7
            assert field, "field 0"
            if kind == 0:
                value, at = varint(data, at)
            elif kind == 1:
                (value,) = struct.unpack_from("<Q", data, at)
                at += 8
            elif kind == 2:
                n, at = varint(data, at)
                value = data[at:at + n]
                assert len(value) == n, "a field is cut"
                at += n
            else:
                raise AssertionError("wire type %d" % kind)
            self.setdefault(field, []).append(value)

    def only(self, allowed):
        assert set(self) <= set(allowed), "fields %s" % sorted(set(self) - set(allowed))
        return self

    def number(self, field):
        (value,) = self.get(field, [0])
        return value

    def bytes(self, field):
        (value,) = self.get(field, [b""])
        return value

    def messages(self, field, allowed):
        return [Message(value).only(allowed) for value in self.get(field, [])]

    def packed(self, field):
        found, data, at = [], self.bytes(field), 0
        while at < len(data):
            value, at = varint(data, at)
            found.append(value)
        return found


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, at


class Profiles:
    def __init__(self, path):
        data = Message(open(path, "rb").read()).only({1, 2})
        (tables,) = data.messages(2, range(1, 8))
        self.strings = [text.decode("utf-8") for text in tables[5]]
        self.mappings = tables.messages(1, range(1, 6))
        self.locations = tables.messages(2, range(1, 5))
        self.functions = tables.messages(3, range(1, 5))
        self.links = tables.messages(4, {1, 2})
        self.attributes = tables.messages(6, range(1, 4))
        self.stacks = tables.messages(7, {1})
        for table in (self.mappings, self.locations, self.functions, self.links, self.attributes,
                      self.stacks):
            assert table and not table[0], "the first entry of a table is not empty"
        assert self.strings[0] == "", "string 0 is not empty"
        assert len(set(self.strings)) == len(self.strings), "strings occur twice"
        self.resources = data.messages(1, {1, 2, 3})
        assert self.resources, "no resource"

    def value(self, message):
        any_value = Message(message.bytes(2)).only({1, 3})
        return any_value.bytes(1).decode() if 1 in any_value else any_value.number(3)

    def of(self, indices):
        """The attributes of these entries of the table."""
        assert all(indices), "an attribute is entry 0"
        found = {self.strings[self.attributes[i].number(1)]: self.value(self.attributes[i])
                 for i in indices}
        assert len(found) == len(indices), "an attribute occurs twice"
        return found

    def name(self, location):
        (line,) = self.locations[location].messages(3, {1, 2, 3})
        assert line.number(1), "a line without a function"
        return self.strings[self.functions[line.number(1)].number(1)]

    def profiles(self):
        for resource in self.resources:
            (about,) = resource.messages(1, {1})
            names = {pair.bytes(1).decode(): self.value(pair)
                     for pair in about.messages(1, {1, 2})}
            assert names["service.name"] and names["process.pid"], names
            (scope,) = resource.messages(2, {1, 2, 3})
            (by,) = scope.messages(1, {1, 2})
            assert by.bytes(1) == b"jsprof", by
            for profile in scope.messages(2, range(1, 12)):
                assert len(profile.bytes(7)) == 16 and any(profile.bytes(7)), "no id"
                yield names, profile

    def kind(self, profile, field):
        value = Message(profile.bytes(field)).only({1, 2})
        return "%s/%s" % (self.strings[value.number(1)], self.strings[value.number(2)])

    def samples(self, profile):
        for sample in profile.messages(2, range(1, 6)):
            stack = self.stacks[sample.number(1)].packed(1)
            (value,) = sample.packed(4)
            assert sample.number(1) and all(stack), "a stack without frames"
            attributes = self.of(sample.packed(2))
            if sample.number(3):
                link = self.links[sample.number(3)]
                assert len(link.bytes(1)) == 16 and len(link.bytes(2)) == 8, "ids of a link"
                attributes["link"] = link.bytes(1).hex() + "/" + link.bytes(2).hex()
            yield stack, value, attributes

    def frame_kind(self, location):
        return self.of(self.locations[location].packed(4))["profile.frame.type"]


def main(what, path):
    read = Profiles(path)
    ids = set()
    for names, profile in read.profiles():
        kind = read.kind(profile, 1)
        ids.add(profile.bytes(7))
        if what == "check":
            print("profile of %s %d: %s, period %d %s" % (
                names["service.name"], names["process.pid"], kind, profile.number(6),
                read.kind(profile, 5)))
        for stack, value, attributes in read.samples(profile):
            if what == "self" and kind.endswith("/nanoseconds"):
                print(value, read.name(stack[0]))
            elif what == "check":
                print(value, kind, read.frame_kind(stack[0]), read.name(stack[0]),
                      " ".join("%s=%s" % pair for pair in sorted(attributes.items())))
    assert len(ids) == sum(1 for _ in read.profiles()), "ids occur twice"


if __name__ == "__main__":
    main(*sys.argv[1:])
