-- SPDX-License-Identifier: BSD-3-Clause
-- Wireshark and tshark show ESP, the protocol of ESPGOAL (doc/protocol.md), over Ethernet and UDP.
--
--	tshark -X lua_script:tools/espgoal.lua -r trace.pcap
--
-- Preferences: the EtherType and the UDP port, if they are not the default ones.

local esp = Proto("espgoal", "ESPGOAL transport")

esp.prefs.ethertype = Pref.uint("EtherType", 0x88b5, "EtherType of the Ethernet form")
esp.prefs.port = Pref.uint("UDP port", 4950, "port of the UDP form")

local types = {
	[1] = "HELLO", [2] = "TOKEN", [3] = "OPEN", [4] = "ACCEPT",
	[5] = "DATA", [6] = "RESET", [7] = "REJECT",
}
local kinds = {
	[1] = "ACK", [2] = "MSG", [3] = "RTS", [4] = "PULLED", [5] = "GRANT", [6] = "NOT-READY",
	[7] = "BUSY", [8] = "READY", [9] = "ABORT", [10] = "PING", [11] = "PAD", [12] = "MTU",
	[13] = "ADDR", [14] = "STOP", [15] = "CANCEL", [16] = "ASK", [17] = "GONE",
	[18] = "PONG",
}
local carriers = { [0] = "none", [1] = "Ethernet", [2] = "UDP over IPv4", [3] = "UDP over IPv6" }
local orders = { [1] = "little-endian", [2] = "big-endian" }
local reasons = { [1] = "byte order or word size", [2] = "no memory now" }
local codes = { [1] = "error in the run", [2] = "node unreachable", [3] = "process has ended" }

local f = {}

local function field(kind, name, text, ...)
	f[name] = ProtoField[kind]("espgoal." .. name, text, ...)
end

field("uint8", "version", "Version")
field("uint8", "type", "Type", base.DEC, types)
field("uint16", "hdr_len", "Header length")
field("uint16", "total_len", "Total length")
field("uint8", "path", "Path")
field("uint8", "flags", "Flags", base.HEX)
field("bool", "numbered", "Numbered", 8, nil, 0x01)
field("bool", "ack_now", "Acknowledge now", 8, nil, 0x02)
field("uint64", "cid", "Connection id", base.HEX)
field("uint32", "pn", "Packet number")
field("uint16", "back", "Settled below packet number minus")
field("uint16", "reserved", "Reserved", base.HEX)
field("uint32", "payload_crc", "CRC32C of the payload", base.HEX)
field("uint32", "hdr_crc", "CRC32C of the header", base.HEX)
field("bytes", "node", "Node")
field("bytes", "name_hash", "Hash that shows the responder's name is known")
field("uint64", "own_cid", "Sender's connection id", base.HEX)
field("uint64", "stamp", "Stamp")
field("bytes", "token", "Token")
field("uint32", "first_pn", "First packet number")
field("uint32", "first_mid", "First message id")
field("uint32", "features", "Features", base.HEX)
field("uint8", "order", "Byte order", base.DEC, orders)
field("uint8", "word", "Bytes of a pointer")
field("uint16", "mtu", "MTU")
field("uint8", "max_version", "Highest version")
field("uint8", "carrier", "Carrier", base.DEC, carriers)
field("uint16", "port", "Port")
field("ether", "mac", "MAC address")
field("ipv4", "ip4", "IPv4 address")
field("ipv6", "ip6", "IPv6 address")
field("uint8", "reason", "Reason", base.DEC, reasons)
field("uint8", "kind", "Kind", base.DEC, kinds)
field("uint8", "chunk_flags", "Flags", base.HEX)
field("uint16", "chunk_len", "Length")
field("uint16", "delay", "Delay (256 ns)")
field("uint32", "cum", "All below")
field("uint64", "bits", "And", base.HEX)
field("uint32", "mid", "Message id")
field("uint64", "total", "Bytes of the message")
field("uint64", "off", "Offset")
field("uint16", "plen", "Bytes here")
field("uint64", "upto", "Granted up to")
field("uint64", "nonce", "Group nonce", base.HEX)
field("uint64", "cookie", "Endpoint cookie", base.HEX)
field("uint32", "opid", "Operation id")
field("uint32", "start", "Start number")
field("uint32", "src", "Source rank")
field("uint32", "tag", "Tag")
field("uint32", "instance", "Instance")
field("uint32", "from", "From rank")
field("uint32", "rank", "Failed rank")
field("uint32", "code", "Code", base.DEC, codes)
field("uint64", "value", "Value", base.HEX)
field("bytes", "payload", "Payload")

local list = {}
for _, v in pairs(f) do
	list[#list + 1] = v
end
esp.fields = list

local malformed = ProtoExpert.new("espgoal.malformed", "Malformed frame", expert.group.MALFORMED,
	expert.severity.ERROR)
local bad_crc = ProtoExpert.new("espgoal.bad_crc", "Wrong checksum", expert.group.CHECKSUM,
	expert.severity.ERROR)
esp.experts = { malformed, bad_crc }

-- Lua 5.1 and 5.2 have no operators on bits: Wireshark brings a library, later versions another.
local bits = bit or bit32
local bxor = bits and bits.bxor
local band = bits and bits.band
local rshift = bits and bits.rshift
if not bits then
	bxor = load("return function(a, b) return a ~ b end")()
	band = load("return function(a, b) return a & b end")()
	rshift = load("return function(a, n) return (a & 0xffffffff) >> n end")()
end

local crc_table = {}
for i = 0, 255 do
	local v = i
	for _ = 1, 8 do
		if band(v, 1) == 1 then
			v = bxor(rshift(v, 1), 0x82f63b78)
		else
			v = rshift(v, 1)
		end
	end
	crc_table[i] = v
end

local function crc(v, bytes)
	for i = 0, bytes:len() - 1 do
		v = bxor(rshift(v, 8), crc_table[band(bxor(v, bytes:get_index(i)), 0xff)])
	end
	return v
end

-- As an unsigned number, which the library of bits does not always give.
local function finish(v)
	v = bxor(v, 0xffffffff)
	return v % 0x100000000
end

local function key(buf, at, tree)
	local k = tree:add(esp, buf(at, 36), "Receive")
	k:add_le(f.nonce, buf(at, 8))
	k:add_le(f.cookie, buf(at + 8, 8))
	k:add_le(f.opid, buf(at + 16, 4))
	k:add_le(f.start, buf(at + 20, 4))
	k:add_le(f.src, buf(at + 24, 4))
	k:add_le(f.tag, buf(at + 28, 4))
	k:add_le(f.instance, buf(at + 32, 4))
end

local function address(buf, at, tree, text)
	local a = tree:add(esp, buf(at, 20), text)
	local carrier = buf(at, 1):uint()
	a:add(f.carrier, buf(at, 1))
	if carrier == 1 then
		a:add(f.mac, buf(at + 4, 6))
	elseif carrier == 2 then
		a:add_le(f.port, buf(at + 2, 2))
		a:add(f.ip4, buf(at + 4, 4))
	elseif carrier == 3 then
		a:add_le(f.port, buf(at + 2, 2))
		a:add(f.ip6, buf(at + 4, 16))
	end
end

local function hello(buf, tree)
	local type = buf(1, 1):uint()
	tree:add(type <= 2 and f.name_hash or f.node, buf(32, 16))
	tree:add_le(f.own_cid, buf(48, 8))
	tree:add_le(f.stamp, buf(56, 8))
	tree:add(f.token, buf(64, 16))
	tree:add_le(f.first_pn, buf(80, 4))
	tree:add_le(f.first_mid, buf(84, 4))
	tree:add_le(f.features, buf(88, 4))
	tree:add(f.order, buf(92, 1))
	tree:add(f.word, buf(93, 1))
	tree:add_le(f.mtu, buf(94, 2))
	tree:add(f.max_version, buf(96, 1))
	for i = 0, 3 do
		if buf(100 + 20 * i, 1):uint() ~= 0 then
			address(buf, 100 + 20 * i, tree, "Address on path " .. i)
		end
	end
end

-- Each: fixed length (nil: its own business), and what shows it. The answer is its payload's length.
local show = {
	[1] = { nil, function(buf, at, len, t)
		t:add_le(f.delay, buf(at + 4, 2))
		t:add_le(f.cum, buf(at + 8, 4))
		for i = 12, len - 8, 8 do
			t:add_le(f.bits, buf(at + i, 8))
		end
		return 0
	end },
	[2] = { 56, function(buf, at, _, t)
		t:add_le(f.mid, buf(at + 4, 4))
		t:add_le(f.total, buf(at + 8, 4), UInt64(buf(at + 8, 4):le_uint()))
		t:add_le(f.off, buf(at + 12, 4), UInt64(buf(at + 12, 4):le_uint()))
		t:add_le(f.plen, buf(at + 16, 2))
		key(buf, at + 20, t)
		return buf(at + 16, 2):le_uint()
	end },
	[3] = { 52, function(buf, at, _, t)
		t:add_le(f.mid, buf(at + 4, 4))
		t:add_le(f.total, buf(at + 8, 8))
		key(buf, at + 16, t)
		return 0
	end },
	[4] = { 20, function(buf, at, _, t)
		t:add_le(f.mid, buf(at + 4, 4))
		t:add_le(f.off, buf(at + 8, 8))
		t:add_le(f.plen, buf(at + 16, 2))
		return buf(at + 16, 2):le_uint()
	end },
	[5] = { 16, function(buf, at, _, t)
		t:add_le(f.mid, buf(at + 4, 4))
		t:add_le(f.upto, buf(at + 8, 8))
		return 0
	end },
	[8] = { 28, function(buf, at, _, t)
		t:add_le(f.nonce, buf(at + 4, 8))
		t:add_le(f.cookie, buf(at + 12, 8))
		t:add_le(f.opid, buf(at + 20, 4))
		t:add_le(f.start, buf(at + 24, 4))
		return 0
	end },
	[9] = { 40, function(buf, at, _, t)
		t:add_le(f.nonce, buf(at + 4, 8))
		t:add_le(f.cookie, buf(at + 12, 8))
		t:add_le(f.opid, buf(at + 20, 4))
		t:add_le(f.start, buf(at + 24, 4))
		t:add_le(f.from, buf(at + 28, 4))
		t:add_le(f.rank, buf(at + 32, 4))
		t:add_le(f.code, buf(at + 36, 4))
		return 0
	end },
	[11] = { 8, function(buf, at, _, t)
		t:add_le(f.plen, buf(at + 4, 2))
		return buf(at + 4, 2):le_uint()
	end },
	[12] = { 8, function(buf, at, _, t)
		t:add_le(f.mtu, buf(at + 4, 2))
		return 0
	end },
	[13] = { 24, function(buf, at, _, t)
		address(buf, at + 4, t, "Address")
		return 0
	end },
}

local function mids(buf, at, len, t)
	for i = 4, len - 4, 4 do
		t:add_le(f.mid, buf(at + i, 4))
	end
	return 0
end

local function cookie(buf, at, _, t)
	t:add_le(f.cookie, buf(at + 4, 8))
	return 0
end

local function value(buf, at, _, t)
	t:add_le(f.value, buf(at + 4, 8))
	return 0
end

show[6] = { nil, mids }
show[7] = { nil, mids }
show[10] = { 12, value }
show[14] = { 8, mids }
show[15] = { 8, mids }
show[16] = { 32, function(buf, at, _, t)
	t:add_le(f.nonce, buf(at + 4, 8))
	t:add_le(f.cookie, buf(at + 12, 8))
	t:add_le(f.opid, buf(at + 20, 4))
	t:add_le(f.start, buf(at + 24, 4))
	t:add_le(f.from, buf(at + 28, 4))
	return 0
end }
show[17] = { 12, cookie }
show[18] = { 12, value }

-- The chunks of a DATA frame; false: they are not what they should be.
local function chunks(buf, hdr, total, tree, names)
	local at, payload = 32, hdr
	while at < hdr do
		if hdr - at < 4 then
			return false
		end
		local kind, len = buf(at, 1):uint(), buf(at + 2, 2):le_uint()
		local how = show[kind]
		if not how or len < 4 or len > hdr - at or (how[1] and len ~= how[1])
			or (kind == 1 and (len < 12 or len > 76 or (len - 12) % 8 ~= 0))
			or ((kind == 6 or kind == 7) and (len < 8 or len > 68 or len % 4 ~= 0)) then
			return false
		end
		local t = tree:add(esp, buf(at, len), kinds[kind])
		t:add(f.kind, buf(at, 1))
		t:add(f.chunk_flags, buf(at + 1, 1))
		t:add_le(f.chunk_len, buf(at + 2, 2))
		local n = how[2](buf, at, len, t)
		if payload + n > total then
			return false
		end
		if n > 0 then
			t:add(f.payload, buf(payload, n))
		end
		payload = payload + n
		names[#names + 1] = kinds[kind]
		at = at + len
	end
	return payload == total
end

function esp.dissector(buf, pinfo, root)
	local captured = buf:captured_len()
	if captured < 32 then
		return 0
	end
	local version, type = buf(0, 1):uint(), buf(1, 1):uint()
	local hdr, total = buf(2, 2):le_uint(), buf(4, 2):le_uint()
	pinfo.cols.protocol = "ESP"
	local tree = root:add(esp, buf(0, math.min(captured, math.max(total, 32))))
	tree:add(f.version, buf(0, 1))
	tree:add(f.type, buf(1, 1))
	tree:add_le(f.hdr_len, buf(2, 2))
	tree:add_le(f.total_len, buf(4, 2))
	tree:add(f.path, buf(6, 1))
	local flags = tree:add(f.flags, buf(7, 1))
	flags:add(f.numbered, buf(7, 1))
	flags:add(f.ack_now, buf(7, 1))
	tree:add_le(f.cid, buf(8, 8))
	tree:add_le(f.pn, buf(16, 4))
	tree:add_le(f.back, buf(20, 2))
	tree:add_le(f.reserved, buf(22, 2))
	local payload_crc = tree:add_le(f.payload_crc, buf(24, 4))
	local hdr_crc = tree:add_le(f.hdr_crc, buf(28, 4))
	if version ~= 1 or not types[type] or hdr < 32 or hdr > 640 or total < hdr or total > captured then
		tree:add_proto_expert_info(malformed)
		pinfo.cols.info = "malformed"
		return captured
	end

	local v = crc(0xffffffff, buf(0, 28):bytes())
	v = crc(v, ByteArray.new("00000000"))
	if hdr > 32 then
		v = crc(v, buf(32, hdr - 32):bytes())
	end
	if finish(v) ~= buf(28, 4):le_uint() then
		hdr_crc:add_proto_expert_info(bad_crc)
	end
	local said = buf(24, 4):le_uint()
	if said ~= 0 and finish(crc(0xffffffff, buf(hdr, total - hdr):bytes())) ~= said then
		payload_crc:add_proto_expert_info(bad_crc)
	end

	local info = types[type]
	local good = true
	if type <= 4 then
		good = hdr == 180 and total == hdr
		if good then
			hello(buf, tree)
		end
	elseif type == 5 then
		local names = {}
		good = chunks(buf, hdr, total, tree, names)
		info = table.concat(names, " ")
		if buf(7, 1):uint() % 2 == 1 then
			info = "#" .. buf(16, 4):le_uint() .. " " .. info
		end
	elseif type == 7 then
		good = hdr == 36 and total == hdr
		if good then
			tree:add(f.reason, buf(32, 1))
		end
	end
	if not good then
		tree:add_proto_expert_info(malformed)
		info = info .. " (malformed)"
	end
	pinfo.cols.info = info
	return total
end

local used_type, used_port

local function register()
	local ether, udp = DissectorTable.get("ethertype"), DissectorTable.get("udp.port")
	if used_type then
		ether:remove(used_type, esp)
		udp:remove(used_port, esp)
	end
	used_type, used_port = esp.prefs.ethertype, esp.prefs.port
	ether:add(used_type, esp)
	udp:add(used_port, esp)
end

esp.prefs_changed = register
register()
