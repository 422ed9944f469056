#!/bin/sh
# A shop in one table, with the dynax command. DYNAX_ENDPOINT says where the server is, if not at 127.0.0.1:8111.
dynax create-table ecommerce PK SK >/dev/null

dynax put ecommerce PK=CUSTOMER#42 SK=PROFILE name=Ana email=ana@x.io
dynax put ecommerce PK=CUSTOMER#42 SK=ORDER#2025-05-30#o-7 total:=20
dynax put ecommerce PK=CUSTOMER#42 SK=ORDER#2025-06-12#o-9 total:=60
dynax put ecommerce PK=ORDER#o-9 SK=META status=PLACED
dynax put ecommerce PK=ORDER#o-9 SK=ITEM#1 sku=kettle qty:=1

echo 'a profile'
dynax get ecommerce PK=CUSTOMER#42 SK=PROFILE --plain

echo "a customer's orders, newest first"
dynax query ecommerce PK=CUSTOMER#42 SK^=ORDER# --reverse --plain

echo 'an order with its items, in one Query'
dynax query ecommerce PK=ORDER#o-9 --plain

echo 'the status changes from PLACED to SHIPPED; the second time the condition fails'
for attempt in 1 2; do
	dynax update ecommerce PK=ORDER#o-9 SK=META --expr 'SET #s = :new' --if '#s = :old' --name '#s=status' \
		--value :new=SHIPPED --value :old=PLACED --return ALL_NEW --plain
done
[ $? = 3 ]	# the server refused
